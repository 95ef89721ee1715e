import { Component, type ReactNode } from "react";
import { words } from "./words.ts";

/** Shows a way on when a part of the page breaks. */
export class Crash extends Component<{ children: ReactNode }, { broken: boolean }> {
  override state = { broken: false };

  static getDerivedStateFromError() {
    return { broken: true };
  }

  override render() {
    if (!this.state.broken) return this.props.children;
    return (
      <main className="page">
        <div className="card" role="alert">
          <h1>{words.crash.title}</h1>
          <p>{words.crash.help}</p>
          <button type="button" className="primary" onClick={() => window.location.reload()}>
            {words.crash.reload}
          </button>
        </div>
      </main>
    );
  }
}
