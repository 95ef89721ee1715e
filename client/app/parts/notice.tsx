/** A line above the conversation: something to know, and what to do about it. */
export function Notice(props: { text: string; actions: readonly { text: string; onClick: () => void }[] }) {
  return (
    <div className="notice" role="status">
      <span>{props.text}</span>
      {props.actions.map(({ text, onClick }) => (
        <button key={text} type="button" onClick={onClick}>
          {text}
        </button>
      ))}
    </div>
  );
}
