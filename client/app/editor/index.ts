/**
 * What people write in together. The page loads it on its own, so that it can be read before the editor is here.
 */
export { openDoc, type ThreadDoc } from "../../doc/index.ts";
export { type DraftEditor, type DraftOutcome, openDraft } from "./draft-editor.ts";
export { openText, type TextEditor } from "./text-editor.ts";
