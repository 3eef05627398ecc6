/**
 * Which installed skill a rule speaks of. Rule files name skills by their folder, by a path (`global/review`), in another
 * case (`CreateSkill`), or without the plugin they come from.
 */
export interface RuleTargets {
  /** The id of the skill, or undefined when no or more than one skill fits. */
  find(name: string): string | undefined;
}

export function ruleTargets(ids: Iterable<string>): RuleTargets {
  const exact = new Set(ids);
  const loose = new Map<string, string | undefined>();
  for (const id of exact) {
    for (const key of new Set([looseForm(id), looseForm(tail(id))])) {
      // Two skills of one loose form: the rule must say which.
      loose.set(key, loose.has(key) && loose.get(key) !== id ? undefined : id);
    }
  }
  return {
    find(name) {
      if (exact.has(name)) return name;
      return loose.get(looseForm(name)) ?? loose.get(looseForm(tail(name)));
    },
  };
}

function tail(name: string): string {
  return name.slice(Math.max(name.lastIndexOf(":"), name.lastIndexOf("/"), name.lastIndexOf("\\")) + 1);
}

/** CreateSkill, create_skill and create-skill are one. */
function looseForm(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "");
}
