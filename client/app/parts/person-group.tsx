import { use, useState } from "react";
import { type MessageView, useMessage, useThreadValue } from "../../react/index.ts";
import { attachments, contentText } from "../content.ts";
import type { Group } from "../conversation.ts";
import { putBack } from "../drafts.ts";
import { HoldStill } from "../hold-still.ts";
import { isNote } from "../notes.ts";
import { nameOf } from "../people.ts";
import { colourOf, useThreadContext } from "../thread-context.ts";
import { fullTime, timeOfDay } from "../when.ts";
import { words } from "../words.ts";
import { AskButton } from "./ask-button.tsx";
import { PersonAvatar } from "./avatar.tsx";
import { BranchSwitch } from "./branches.tsx";
import { EditText } from "./edit-text.tsx";
import { Icon } from "./icons.tsx";
import { PlainText } from "./plain-text.tsx";

/** What one person wrote at one go. @param props.unanswered the message that an agent can be asked to answer */
export function PersonGroup({ group, unanswered }: { group: Group; unanswered: string | undefined }) {
  const { thread } = useThreadContext();
  const first = useMessage(thread, group.ids[0] ?? "");
  const by = first?.about.by ?? group.by;
  const name = nameOf(by, first?.message);
  return (
    <article className="group">
      <PersonAvatar name={name} colour={colourOf(by)} />
      <div className="group-body">
        <header className="who">
          <b>{name}</b> <time title={fullTime(group.at)}>{timeOfDay(group.at)}</time>
        </header>
        {group.ids.map((id) => (
          <Said key={id} id={id} ask={id === unanswered} />
        ))}
      </div>
    </article>
  );
}

function Said({ id, ask }: { id: string; ask: boolean }) {
  const { thread, me } = useThreadContext();
  const view = useMessage(thread, id);
  const [edited, setEdited] = useState(false);
  const isBusy = useThreadValue(thread, ({ runs, inputs }) => runs.length + inputs.length > 0);
  if (!view) return null;
  const { message, about } = view;
  const content = "content" in message ? message.content : "";
  const { by, turn, pending } = about;
  const isMine =
    by.kind === "user" && by.id === me && !pending && !isNote(message) && typeof content === "string";
  if (edited)
    return (
      <EditText
        text={contentText(content)}
        label={words.branch.field}
        save={words.branch.save}
        onDone={(text) => {
          setEdited(false);
          // A failure shows at the message.
          if (text !== null) void thread.resend(id, text).catch(() => {});
        }}
      />
    );
  return (
    <div className={about.pending ? `said said-${about.pending.state}` : "said"} data-message={id}>
      <div className="said-text">
        <Text text={contentText(content)} limit={about.pending?.state === "failed" ? FAILED : LONG} />
        {attachments(content).map((what, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a message do not change
          <span key={i} className="marginal block">
            {words.message.attached(what)}
          </span>
        ))}
        {isNote(message) && (
          <span className="tag" title={words.message.noteHelp}>
            {words.message.note}
          </span>
        )}
        {ask && <AskButton />}
        {turn !== undefined && <BranchSwitch turn={turn} />}
        {isMine && !isBusy && (
          <button
            type="button"
            className="quiet said-edit"
            aria-label={words.branch.edit}
            title={words.branch.edit}
            onClick={() => setEdited(true)}
          >
            <Icon name="pencil" size={14} />
          </button>
        )}
      </div>
      {about.pending && (
        <PendingLine pending={about.pending} text={contentText(content)} note={isNote(message)} />
      )}
    </div>
  );
}

/** More than this is shown when it is asked for, in characters. */
const LONG = 4_000;
/** The same for what did not get anywhere. */
const FAILED = 280;

function Text({ text, limit }: { text: string; limit: number }) {
  const holdStill = use(HoldStill);
  const [whole, setWhole] = useState(false);
  if (whole || text.length <= limit) return <PlainText text={text} />;
  return (
    <>
      <PlainText text={`${text.slice(0, limit).replace(/[\ud800-\udbff]$/, "")}…`} />{" "}
      <button
        type="button"
        className="inline"
        onClick={(event) => {
          holdStill(event.currentTarget);
          setWhole(true);
        }}
      >
        {words.message.whole(text.length)}
      </button>
    </>
  );
}

type Pending = NonNullable<MessageView["about"]["pending"]>;

function PendingLine({ pending, text, note }: { pending: Pending; text: string; note: boolean }) {
  const { live, thread } = useThreadContext();
  const { state, reason, error } = pending;
  if (state === "failed")
    return (
      <div className="trouble" role="alert">
        <span>
          {words.message.notSent} {error?.code === "too_big" ? words.message.tooBig : reason}
        </span>
        {mayArrive(error) && (
          <button type="button" onClick={() => void pending.retry().catch(() => {})}>
            {words.message.retry}
          </button>
        )}
        <button
          type="button"
          onClick={() => {
            putBack(thread.id, text, note);
            pending.discard();
          }}
        >
          {words.message.edit}
        </button>
        <button type="button" className="quiet" onClick={() => pending.discard()}>
          {words.message.discard}
        </button>
      </div>
    );
  const line = !live ? words.message.waiting : reason ? words.message.delayed(reason) : words.message.sending;
  return <div className={live && !reason ? "marginal late" : "marginal"}>{line}</div>;
}

/** What is wrong with the message itself is so the next time too. */
const HOPELESS = /^(?:too_big|bad_message|bad_frame|conflict|not_supported)$/;
const mayArrive = (error: Pending["error"]) => !HOPELESS.test(error?.code ?? "");
