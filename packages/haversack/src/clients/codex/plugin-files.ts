/**
 * The files of the Codex plugin that are not copies of built ones, and the marketplace it is installed from (both in the client's own
 * format, seen in 0.166.0). `scripts/build-codex.mjs` writes them.
 */
import { ENV_VARS } from "./config-server.ts";
import { hookGroups } from "./hooks-file.ts";
import { codexWorkFiles } from "./work-files.ts";

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

/** Where the plugin lies in the marketplace. Older versions of the client find none at the marketplace's own folder. */
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
      // Out of the listing that every session pays for: only `$haversack:NAME` brings it.
      inPlugin(`skills/${skill}/agents/openai.yaml`, "policy:\n  allow_implicit_invocation: false\n"),
    ]),
    ...codexWorkFiles("$haversack:work").map(({ path, text }) => inPlugin(path, text)),
  ];
}

/**
 * Commands for all events: one package serves every version of the client, it cannot say which it needs, and an older one reads no hook at all from
 * a file with one that asks a server. Whether rules guard files is known per project only, so the plugin watches no edits before they happen.
 */
function pluginHooks() {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the client replaces it.
  const folder = "${CLAUDE_PLUGIN_ROOT}";
  const command = `haversack_sh="${folder}/node.sh"; [ -f "$haversack_sh" ] || exit 0; set -- hook.cjs codex plugin; . "$haversack_sh"`;
  return Object.fromEntries(Object.entries(hookGroups(command, false)).map(([event, group]) => [event, [group]]));
}

/**
 * The client fills in no folder here. With `cwd: "."` the server would start in the plugin's folder and not know the project; without
 * it starts in the project's, and finds its own by the place where the client keeps installed plugins.
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

Run \`sh "FOLDER/../../node.sh" haversack.cjs skills index\` in the project's root, where FOLDER is the folder of this file.

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
