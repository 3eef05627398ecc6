/** Reads a plan or a template: a file of the project, and no longer than anybody writes one. Loaded by the hook. */
import { STATE_FOLDER } from "../../base/project-root.ts";
import { trustRecord } from "../../base/project-trust.ts";
import { MAX_TEMPLATE_BYTES, readProjectText } from "../../base/read-text.ts";

const MOST_BYTES = 4_000_000;

/**
 * A file of the project for a packet. A template of the project stands where Haversack's own instructions would, so it counts only as
 * the user accepted it; any other one is as if it were not there.
 */
export function readForPacket(root: string, path: string, userState: string | undefined): string | undefined {
  const folder = `${root}/${STATE_FOLDER}/templates/`;
  const text = path.startsWith(folder)
    ? readProjectText(path, { root, maxBytes: MAX_TEMPLATE_BYTES })?.text
    : readInside(root, path);
  if (text === undefined || !path.startsWith(folder)) return text;
  const accepted = trustRecord(`${root}/${STATE_FOLDER}`, userState)?.templates ?? {};
  const role = path.slice(folder.length, -".md".length);
  return Object.hasOwn(accepted, role) && accepted[role] === text ? text : undefined;
}

/** Undefined: there is none, it is no file of the project, or not ours to read. */
function readInside(root: string, path: string): string | undefined {
  return readProjectText(path, { root, maxBytes: MOST_BYTES, mayLinkInside: true })?.text;
}
