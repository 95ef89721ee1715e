import { Fragment } from "react";
import { type Piece, plainPieces } from "../plain-pieces.ts";
import { unbrokenClass } from "../unbroken.ts";
import { CopyButton } from "./copy-button.tsx";
import { Link } from "./markdown.tsx";

/** What people write: their lines as they are, with links to follow and quoted code set apart. */
export function PlainText({ text }: { text: string }) {
  const pieces = plainPieces(text).map((piece, i) => (
    // The text of a message does not change.
    // biome-ignore lint/suspicious/noArrayIndexKey: see above
    <Fragment key={i}>{shown(piece)}</Fragment>
  ));
  return <span className={unbrokenClass(text)}>{pieces}</span>;
}

function shown(piece: Piece) {
  if (piece.kind === "link") return <Link href={piece.text}>{piece.text}</Link>;
  if (piece.kind === "text") return piece.text;
  return (
    <span className="code">
      <span className="code-bar">
        <span>{piece.language}</span>
        <CopyButton text={() => piece.text} />
      </span>
      <code>{piece.text}</code>
    </span>
  );
}
