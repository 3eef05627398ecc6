/**
 * opencode's `permission.skill` (seen in 1.18.33): a skill that it denies is not listed, in sub-agents neither, and the client's own tool
 * refuses it. Of the rules that fit a name the last one counts.
 */
export type Permission = string | Record<string, unknown> | undefined;

/** With these denied as well; a name that the person has a rule of its own for stays theirs. */
export function denySkills(permission: Permission, names: readonly string[]): Permission {
  if (names.length === 0) return permission;
  const all: Record<string, unknown> = typeof permission === "string" ? { "*": permission } : { ...permission };
  const before = all["skill"];
  const skill = isObject(before) ? before : before === undefined ? {} : { "*": before };
  const denied = names.filter((name) => !Object.hasOwn(skill, name)).map((name) => [name, "deny"] as const);
  // Last: of the rules for all tools too, one that stands behind would count.
  delete all["skill"];
  return { ...all, skill: { ...skill, ...Object.fromEntries(denied) } };
}

export function isSkillDenied(permission: Permission, name: string): boolean {
  const tools = isObject(permission) ? Object.entries(permission) : [["*", permission] as const];
  let action: unknown;
  for (const [tool, rules] of tools) {
    if (!fits(tool, "skill")) continue;
    for (const [pattern, value] of isObject(rules) ? Object.entries(rules) : [["*", rules] as const]) {
      if (fits(pattern, name)) action = value;
    }
  }
  return action === "deny";
}

/** `*` stands for any text. No regular expression: nothing here could stop one that hangs. */
function fits(pattern: string, name: string): boolean {
  const [first = "", ...rest] = pattern.split("*");
  const last = rest.pop();
  if (last === undefined) return pattern === name;
  if (!name.startsWith(first) || !name.endsWith(last) || name.length < first.length + last.length) return false;
  const middle = name.slice(first.length, name.length - last.length);
  let at = 0;
  return rest.every((part) => {
    const found = middle.indexOf(part, at);
    at = found + part.length;
    return found >= 0;
  });
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
