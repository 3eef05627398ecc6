import { describe, expect, it } from "vitest";
import { commandOutcomes } from "./capture.ts";
import { commandsIn } from "./shell-words.ts";

const outcomes = (line: string, exitCode: number | undefined, text = ""): string =>
  commandOutcomes(commandsIn(line), { exitCode, text })
    .map((outcome) => outcome[0])
    .join("");

describe("commandOutcomes", () => {
  it.each([
    ["npm test", 0, "o"],
    ["npm test", 1, "f"],
    ["cd web && npm test", 1, "uf"],
    ["npm run build && npm test", 1, "uu"],
    ["npm run build && npm test", 0, "oo"],
    ["npm run build; npm test", 1, "uf"],
    ["npm run build; npm test", 0, "uo"],
    ["npm test | tail -5", 0, "uo"],
    ["npm test | grep x", 1, "uf"],
    ["set -o pipefail; npm test | tail -5", 0, "uoo"],
    ["npm test || true", 0, "uu"],
    ["npm test || exit 1", 1, "fu"],
    ["npm test && echo done", 1, "fu"],
    ["npm test; echo done", 0, "uu"],
    ["npm test", undefined, "u"],
  ])("%s, exit %s", (line, exitCode, expected) => expect(outcomes(line, exitCode)).toBe(expected));

  it("reads the code that the line itself prints", () => {
    expect(outcomes('npm test; echo "exit: $?"', 0, "...\nexit: 1\n")).toBe("fu");
    expect(outcomes("npm test; echo $?", 0, "...\n0\n")).toBe("ou");
    expect(outcomes('npm test | tail -3; echo "exit: $?"', 0, "exit: 0")).toBe("uuu");
    expect(outcomes('npm test | tail -3; echo "exit: $PIPESTATUS"', 0, "exit: 2")).toBe("fuu");
  });

  it("takes the code from the text when the client gives no other", () => {
    expect(commandOutcomes(commandsIn("npm test"), { text: "Exit code 2\nboom" })).toEqual(["failed"]);
    expect(commandOutcomes(commandsIn("npm test"), { isError: true, text: "boom" })).toEqual(["failed"]);
    expect(commandOutcomes(commandsIn("npm test"), { isError: false, text: "" })).toEqual(["ok"]);
  });
});
