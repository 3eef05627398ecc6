/** What `trust` and `init` show before they ask. */
import { cleanLine } from "../base/clean-text.ts";
import type { BroughtAlong } from "../engine/trust-project.ts";
import { columns } from "./help.ts";
import { formatBytes } from "./terminal.ts";

export function formatBrought({ untrusted, parts, settings, templates, rules, unread }: BroughtAlong): string {
  const rows = (list: readonly [string, string][]) => columns(list.map(([name, text]) => [clean(name), clean(text)]));
  const mark = (isAccepted: boolean) => (isAccepted ? " (accepted)" : "");
  return [
    ...(untrusted ? [`${untrusted.why}.`] : []),
    ...(parts.length > 0
      ? [
          "Local state:",
          rows(
            parts.map(({ path, about, bytes, isTracked, link }) => [
              path,
              link === undefined
                ? `${formatBytes(bytes)}, ${about}${isTracked ? "; TRACKED BY GIT: it came with the repository" : ""}`
                : `symbolic link to ${link}; cannot be accepted`,
            ]),
          ),
        ]
      : []),
    ...(settings.length > 0
      ? [
          "Settings of .haversack/config.json that need your word:",
          rows(
            settings.map(({ key, value, why, isAccepted }) => [
              key,
              `${JSON.stringify(value)}: ${why}${mark(isAccepted)}`,
            ]),
          ),
        ]
      : []),
    ...(templates.length > 0
      ? [
          "Templates, which agents read as instructions:",
          rows(templates.map(({ path, text, isAccepted }) => [path, `${text.length} characters${mark(isAccepted)}`])),
        ]
      : []),
    ...(rules.length > 0
      ? [
          "Rules for skills that need your word:",
          rows(rules.map(({ path, skill, why, isAccepted }) => [path, `“${skill}” ${why}${mark(isAccepted)}`])),
        ]
      : []),
    ...(unread.length > 0 ? [formatUnread({ unread })] : []),
  ].join("\n");
}

export function formatUnread({ unread }: Pick<BroughtAlong, "unread">): string {
  return ["Not read, accepted or not:", columns(unread.map(({ path, why }) => [clean(path), clean(why)]))].join("\n");
}

/** For `--json`: without the templates' texts, which lie in their files. */
export function broughtData({ untrusted, parts, settings, templates, rules, unread }: BroughtAlong) {
  return {
    untrusted: untrusted?.why ?? null,
    parts: parts.map(({ isTracked, ...part }) => ({ ...part, tracked: isTracked })),
    settings: settings.map(({ isAccepted, ...setting }) => ({ ...setting, accepted: isAccepted })),
    templates: templates.map(({ path, role, text, isAccepted }) => ({
      path,
      role,
      chars: text.length,
      accepted: isAccepted,
    })),
    rules: rules.map(({ path, skill, why, isAccepted }) => ({ path, skill, why, accepted: isAccepted })),
    unread: unread.map(({ path, why }) => ({ path, why })),
  };
}

/** Names and values come from the repository: no control characters reach the terminal. */
function clean(text: string): string {
  return cleanLine(text, { maxChars: 300 });
}
