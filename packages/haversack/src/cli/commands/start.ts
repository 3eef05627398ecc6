/** `haversack` without arguments: the project's status, or how to set it up. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { diskFileSystem } from "../../base/file-system.ts";
import { CLIENTS } from "../../clients/table.ts";
import { notAProject } from "../../engine/project.ts";
import { findSkillSources } from "../../engine/skill-sources.ts";
import { findSkillFiles } from "../../skills/skill-files.ts";
import { type Call, defineCommand } from "../command.ts";
import { shortPath } from "../print-plan.ts";
import { findProject, type Project } from "../project.ts";
import { counted } from "../terminal.ts";
import { wiringPlace } from "../wiring.ts";

export const command = defineCommand({
  about: "Shows the status of this project, or how to set it up.",
  examples: { haversack: "where you are" },
  json: "as for `haversack status`; before `init` {is_set_up: false, project, clients, skills, command}, where command sets it up.",
  async run(call) {
    const project = findProject(call);
    if (existsSync(project.paths.state)) return (await import("./status.ts")).command.run({ ...call, name: "status" });
    const found = lookAround(call, project);
    const data = { isSetUp: false, project: project.paths.root, ...found };
    return { data, text: welcome(project, found).join("\n") };
  },
});

interface Found {
  /** The coding clients that are used here. */
  clients: string[];
  skills: number;
  /** Sets Haversack up here, as it can be typed: npx is needed if the program is not on the PATH. */
  command: string;
}

function lookAround(call: Pick<Call, "io" | "options" | "json">, { paths, config }: Project): Found {
  const program = call.io.env["npm_command"] === "exec" ? "npx haversack" : "haversack";
  const place = wiringPlace(call, { hasGuards: false });
  const clients = CLIENTS.filter((client) => client.find(place).length > 0).map(({ title }) => title);
  const { roots } = findSkillSources(paths.root, {
    env: call.io.env,
    folders: config["skills.folders"],
    fs: diskFileSystem,
  });
  const skills = findSkillFiles(roots, diskFileSystem).files.length;
  return { clients, skills, command: `${program} init${notAProject(paths) ? " --user" : ""}` };
}

function welcome({ paths }: Project, { clients, skills, command }: Found): string[] {
  const special = notAProject(paths);
  const [program] = command.split(" init");
  return [
    special
      ? `Haversack: ${shortPath(paths.root)} is ${special}, not a project. Go to a project, or connect all of them.`
      : `Haversack is not set up in ${shortPath(paths.root)} yet${existsSync(join(paths.root, ".git")) ? "" : " (not a git repository)"}.`,
    ...(clients.length > 0
      ? [
          `It would connect ${list(clients)}${skills === 0 ? "." : ` and index ${counted(skills, "skill")}.`}`,
          "It then recommends the skills that fit a prompt, and keeps tasks and handoffs.",
          `Type \`${command}\`: it shows every file that it would write, and asks first.`,
        ]
      : [
          "It recommends the skills that fit a prompt, and keeps tasks and handoffs.",
          `No coding client was found. Install one (${CLIENTS.map(({ title }) => title).join(", ")}), then type \`${command}\`.`,
          ...(special ? [] : [`\`${command} --bare\` sets up tasks and handoffs here without a client.`]),
        ]),
    `\`${program} help\` lists all commands.`,
  ];
}

function list(names: readonly string[]): string {
  return names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}
