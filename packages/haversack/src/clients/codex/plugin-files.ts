/**
 * The generated files of the Codex plugin, and the marketplace to install it from (both in the client's format, seen in 0.166.0).
 * `scripts/build-codex.mjs` writes them.
 */

import { hookGroups } from "../hook-settings.ts";
import { codexWorkFiles } from "../work-files.ts";
import { ENV_VARS } from "./config.ts";
import { CODEX_HOOKS } from "./hooks-file.ts";

export interface PluginFile {
  /** Below the marketplace's folder. */
  path: string;
  text: string;
}

export interface PackageFacts {
  name: string;
  version: string;
  description: string;
  license: string;
}

/** Folder of the plugin in the marketplace. Older clients do not find a plugin in the marketplace's root. */
export const PLUGIN_FOLDER = "haversack";

export function codexPluginFiles({ name, version, description, license }: PackageFacts): PluginFile[] {
  const author = { name: "Haversack" };
  const inPlugin = (path: string, text: string) => ({ path: `${PLUGIN_FOLDER}/${path}`, text });
  return [
    {
      path: ".agents/plugins/marketplace.json",
      text: json({
        name,
        interface: { displayName: "Haversack" },
        plugins: [
          {
            name,
            source: { source: "local", path: `./${PLUGIN_FOLDER}` },
            policy: { installation: "AVAILABLE", authentication: "ON_INSTALL" },
            category: "Productivity",
          },
        ],
      }),
    },
    inPlugin(
      ".codex-plugin/plugin.json",
      json({
        name,
        version,
        description,
        author,
        license,
        keywords: ["skills", "context", "hooks"],
        skills: "./skills/",
        mcpServers: "./.mcp.json",
        hooks: "./hooks/hooks.json",
        interface: {
          displayName: "Haversack",
          shortDescription: "Carry only the context your coding agent needs.",
          category: "Productivity",
        },
      }),
    ),
    inPlugin("hooks/hooks.json", json({ hooks: pluginHooks() })),
    inPlugin(".mcp.json", json({ mcpServers: { haversack: pluginServer({ name, version }) } })),
    ...PLUGIN_SKILLS.flatMap(({ skill, text }) => [
      inPlugin(`skills/${skill}/SKILL.md`, text),
      // Not listed, because every session pays for the listing: only `$haversack:NAME` loads it.
      inPlugin(`skills/${skill}/agents/openai.yaml`, "policy:\n  allow_implicit_invocation: false\n"),
    ]),
    ...codexWorkFiles("$haversack:work").map(({ path, text }) => inPlugin(path, text)),
  ];
}

/**
 * Every event runs a command. One package serves all versions of the client, and an older version ignores a whole hooks file if one hook asks a
 * server. Whether rules guard files is known only per project, so the plugin does not watch edits before they happen.
 */
function pluginHooks() {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the client replaces it.
  const folder = "${CLAUDE_PLUGIN_ROOT}";
  const command = `haversack_sh="${folder}/node.sh"; [ -f "$haversack_sh" ] || exit 0; set -- hook.cjs codex plugin; . "$haversack_sh"`;
  return Object.fromEntries(
    Object.entries(hookGroups(CODEX_HOOKS, command, { hasGuards: false })).map(([event, group]) => [event, [group]]),
  );
}

/**
 * The client substitutes no folder here. With `cwd: "."` the server would start in the plugin's folder and not know the project. Without `cwd` it
 * starts in the project's folder and finds its own files where the client keeps installed plugins.
 */
function pluginServer({ name, version }: Pick<PackageFacts, "name" | "version">) {
  const script = [
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the shell replaces it.
    'for haversack_sh in "${CODEX_HOME:-$HOME/.codex}"/plugins/cache/*/',
    `${name}/${version}/node.sh; do `,
    '[ -f "$haversack_sh" ] || continue; set -- haversack.cjs mcp; . "$haversack_sh"; done; ',
    'echo "haversack: the plugin is not in the cache of Codex; install it again" >&2; exit 1',
  ].join("");
  return {
    command: "sh",
    args: ["-c", script],
    env_vars: ENV_VARS,
  };
}

const PLUGIN_SKILLS = [
  {
    skill: "start",
    text: `---
name: start
description: Use Haversack in this project (makes .haversack/ and indexes the skills)
---

Run \`sh "FOLDER/../../node.sh" haversack.cjs skill index\` in the project's root, where FOLDER is the folder of this file.

Tell the person in one sentence what was indexed, and that Haversack works from the next session on, once its hooks are trusted in /hooks.
`,
  },
  {
    skill: "doctor",
    text: `---
name: doctor
description: Check that Haversack works here
---

Run \`sh "FOLDER/../../node.sh" haversack.cjs doctor\` in the project's root, where FOLDER is the folder of this file.

Tell the person what failed and what to do about it; when nothing failed, say so in one sentence.
`,
  },
];

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
