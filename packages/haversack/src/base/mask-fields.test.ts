import { describe, expect, it } from "vitest";
import { maskField, maskLines } from "./mask.ts";

describe("maskField", () => {
  it.each([
    ["password", "hunter2", "[masked:password]"],
    ["db.password", 'with "quotes"1', 'with "quotes"1'],
    ["api-key", 'abc"123\\def456', "[masked:secret]"],
    ["session_token", "0a".repeat(600), "[masked:secret]"],
    ["note", "hunter2", "hunter2"],
    ["password", "", ""],
    ["token", "[masked:jwt]", "[masked:jwt]"],
    ["tokenCount", "12345678", "12345678"],
  ])("%s: %j", (name, value, expected) => {
    expect(maskField(name, value)).toBe(expected);
  });
});

describe("maskLines", () => {
  const body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj";
  const key = [
    ["-----BEGIN", "RSA PRIVATE KEY-----"].join(" "),
    body.slice(0, 20),
    body,
    ["-----END", "RSA PRIVATE KEY-----"].join(" "),
  ];

  it("masks a private key whose lines are the items", () => {
    expect(maskLines(["a", ...key, "b"])).toEqual(["a", "[masked:private-key]", "b"]);
  });

  it("masks the value behind a flag", () => {
    expect(maskLines(["deploy", "--password", "hunter2"])).toEqual(["deploy", "--password", "[masked:password]"]);
  });

  it("leaves ordinary lists alone", () => {
    const files = ["src/token.ts", "src/password.ts", "README.md"];
    expect(maskLines(files)).toEqual(files);
    expect(maskLines(["two\nlines", "one"])).toEqual(["two\nlines", "one"]);
  });
});
