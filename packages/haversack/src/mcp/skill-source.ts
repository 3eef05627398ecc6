/**
 * Serves our index through the protocol's skills extension: `skills/list`, `skills/get` and `skill://` resources. Opt-in (`--serve-skills`),
 * because a client that supports it may list every skill to its model up front, which is the cost that Haversack avoids. What the model
 * reads this way is not recorded in the window's ledger.
 *
 * The id `plugin:name` becomes `skill://plugin/name/SKILL.md`. The extension accepts only skills that follow its rules (a lower-case name
 * equal to the folder's, a description). Others are logged and left out; the `skill` tool serves them all.
 */
import type { McpServer } from "@modelcontextprotocol/server";
import { type Skill, type SkillSource, SkillsExtension, skillEntry } from "@modelcontextprotocol/server/ext/skills";
import { errorText } from "../base/errors.ts";
import type { LiveSkills } from "../engine/live-skills.ts";
import type { ServerParts } from "./server.ts";

const SCHEME = "skill://";
const MANIFEST = "SKILL.md";
const PAGE = 100;

export function attachSkills(server: McpServer, parts: ServerParts): void {
  new SkillsExtension({
    source: skillSource(parts),
    onWarning: ({ path, message }) => parts.log("warn", `skills extension: ${path}: ${message}`),
  }).attach(server);
}

export function skillSource({ skills, offReason, log }: ServerParts): SkillSource {
  const ids = () => (offReason() ? [] : skills.servedIds());
  /** The frontmatter as written. Files are read on demand, so no sizes or digests are listed. */
  const entryOf = async (id: string): Promise<Skill | undefined> => {
    const text = skills.manifest(id);
    if (text === undefined) return undefined;
    try {
      return { ...(await skillEntry(pathOf(id), { [MANIFEST]: text })), resources: "dynamic" };
    } catch (error) {
      log("warn", `skills extension: ${errorText(error).replace(/\s*\n\s*/g, " ")}`);
      return undefined;
    }
  };
  return {
    async list({ cursor }) {
      const all = ids();
      const from = Math.max(0, Number(cursor ?? 0) || 0);
      const page = await Promise.all(all.slice(from, from + PAGE).map(entryOf));
      const next = from + PAGE < all.length ? { nextCursor: String(from + PAGE) } : {};
      return { skills: page.filter((entry) => entry !== undefined), ...next };
    },
    async get(uri) {
      const place = placeOf(uri, ids());
      return place?.file === MANIFEST ? entryOf(place.id) : undefined;
    },
    async read(uri) {
      const place = placeOf(uri, ids());
      return place && readPlace(place, skills);
    },
  };
}

function readPlace({ id, file }: { id: string; file: string }, skills: LiveSkills) {
  if (file === MANIFEST) {
    const text = skills.manifest(id);
    return text === undefined ? undefined : { text, mimeType: "text/markdown" };
  }
  const read = skills.readResource(id, file);
  return read.kind === "text" ? { text: read.text } : undefined;
}

function pathOf(id: string): string {
  return id.replaceAll(":", "/");
}

/** Finds the skill of a URI. The longest path wins, because one skill may be below another. */
function placeOf(uri: string, ids: readonly string[]): { id: string; file: string } | undefined {
  const path = decoded(uri);
  const [id] = ids.filter((id) => path.startsWith(`${pathOf(id)}/`)).sort((a, b) => b.length - a.length);
  return id === undefined ? undefined : { id, file: path.slice(pathOf(id).length + 1) };
}

function decoded(uri: string): string {
  try {
    return uri.startsWith(SCHEME) ? decodeURIComponent(uri.slice(SCHEME.length)) : "";
  } catch {
    // An invalid escape names no file.
    return "";
  }
}
