/**
 * The program's first file. It must parse on any Node that a machine may have, so that one too old is told in
 * one line, and it answers `--version` itself: that is asked by scripts and must cost no more than a bare start.
 */
import { compiledFolder, isPrivate } from "./compiled-folder.ts";
import { answerNothing } from "./silent-mcp.ts";

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
const [first, ...others] = process.argv.slice(2);

if (major < 22 || (major === 22 && minor < 16)) {
  process.stderr.write(`haversack: needs Node 22.16 or newer; this is ${process.version} (${process.execPath})\n`);
  if (first === "mcp") answerNothing();
  else process.exitCode = 3;
} else if ((first === "--version" || first === "-V") && others.length === 0) {
  process.stdout.write(`${__VERSION__}\n`);
} else {
  const compiled = compiledFolder(process.env);
  // One call: Node keeps what it compiled there, checks it against the source and its own checksum, and passes over what does not fit.
  if (compiled && isPrivate(compiled)) require("node:module").enableCompileCache(`${compiled}/node`);
  (require("./cli.cjs") as { main(): Promise<void> }).main();
}
