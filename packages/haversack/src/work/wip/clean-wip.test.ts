import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isFault } from "../../base/errors.ts";
import { cleanWip } from "./clean-wip.ts";

describe("cleanWip", () => {
  it("takes an object or its JSON text, and keeps unknown fields", () => {
    const wip = { phase: "testing", decisions: [{ decision: "JWT" }], mine: { a: [1, true, null] } };
    expect(cleanWip(wip)).toEqual(wip);
    expect(cleanWip(JSON.stringify(wip))).toEqual(wip);
  });

  it.each([
    [[], 'wip_data must be an object such as {"next_step": "…"}, but is []'],
    [null, "wip_data must be an object"],
    [7, "wip_data must be an object"],
    ["next", "wip_data must be JSON: line 1:1:"],
    ["[1]", "wip_data must be an object"],
    [{ test_results: "12 passed" }, 'wip_data.test_results must be an object, but is "12 passed"'],
    [{ plan: [1] }, "wip_data.plan must be an object"],
    [{ text: "x".repeat(200_001) }, "wip_data has 200012 bytes; at most 200000"],
  ])("%j is refused", (value, text) => {
    expect(() => cleanWip(value)).toThrow(text);
  });

  it("is refused when it is nested too deeply, before anything recurses into it", () => {
    const nest = (depth: number): object => JSON.parse(`${'{"a":'.repeat(depth - 1)}{}${"}".repeat(depth - 1)}`);
    expect(cleanWip(nest(12))).toEqual(nest(12));
    expect(() => cleanWip(nest(13))).toThrow("wip_data is nested more than 12 levels deep");
    expect(() => cleanWip(`${'{"a":'.repeat(5000)}{}${"}".repeat(5000)}`)).toThrow("nested more than 12 levels");
  });

  it("masks secrets, also where only the field's name shows that it is one", () => {
    const clean = JSON.stringify(
      cleanWip({ context: `use ghp_${"a1B2".repeat(10)}`, env: { password: "hunter22", note: "hunter22" } }),
    );
    expect(clean).toContain("[masked:github-token]");
    expect(clean).toContain('"password":"[masked:password]"');
    expect(clean).toContain('"note":"hunter22"');
  });

  it("masks what a list or a long field holds", () => {
    const body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj";
    const key = [
      ["-----BEGIN", "PRIVATE KEY-----"].join(" "),
      body.slice(4),
      ["-----END", "PRIVATE KEY-----"].join(" "),
    ];
    const clean = cleanWip({
      lines: ["before", ...key, "after"],
      argv: ["deploy", "--password", "hunter22"],
      env: { session_token: "0a1b".repeat(300), password: 'with "quotes"' },
      files: ["src/token.ts", "src/password.ts"],
    });
    expect(clean).toEqual({
      lines: ["before", "[masked:private-key]", "after"],
      argv: ["deploy", "--password", "[masked:password]"],
      env: { session_token: "[masked:secret]", password: 'with "quotes"' },
      files: ["src/token.ts", "src/password.ts"],
    });
  });

  it("cuts long texts and drops control characters", () => {
    const clean = cleanWip({ context: "y".repeat(30_000), phase: "\u001b[31mtesting" });
    expect(clean.context).toHaveLength(20_000);
    expect(clean.phase).toBe("testing");
  });

  it("no field reaches the prototype", () => {
    const clean = cleanWip('{"__proto__": {"polluted": true}, "phase": "x"}');
    expect(Object.hasOwn(clean, "__proto__")).toBe(false);
    expect((clean as { polluted?: unknown }).polluted).toBeUndefined();
  });

  it("anything at all is cleaned or a fault of the input", () => {
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), fc.json()), (value) => {
        try {
          cleanWip(value);
        } catch (error) {
          expect(isFault(error, "input-invalid")).toBe(true);
        }
      }),
    );
  });
});
