import { describe, expect, it } from "vitest";
import { pairs, tokenize } from "./tokenize.ts";
import { rivalsOf, worldsConflict, worldsOf } from "./vocabulary.ts";

const worlds = (text: string) => {
  const tokens = tokenize(text);
  return worldsOf(tokens, pairs(tokens));
};

describe("worldsOf", () => {
  it("recognises worlds by their names and tools, also of two words", () => {
    expect(worlds("a Flask API")).toEqual(["language:python"]);
    expect(worlds("our C# service")).toEqual(["language:dotnet"]);
    expect(worlds("a Spring Boot jar")).toEqual(["language:java"]);
    expect(worlds("the spring animation")).toEqual([]);
  });
});

describe("worldsConflict", () => {
  it("sees another world on the same axis, and none where a world is shared or an axis is not touched", () => {
    expect(worldsConflict(worlds("unit tests with pytest"), worlds("xunit tests in .NET"))).toBe(true);
    expect(worldsConflict(worlds("a Python client for our C# API"), worlds("xunit tests in .NET"))).toBe(false);
    expect(worldsConflict(worlds("deploy to AWS"), worlds("xunit tests in .NET"))).toBe(false);
    expect(worldsConflict(worlds("write a unit test"), worlds("xunit tests in .NET"))).toBe(false);
  });
});

describe("rivalsOf", () => {
  it("names every world of the axes touched", () => {
    const rivals = rivalsOf(["mobile:ios"]);
    expect(rivals.toSorted()).toEqual(["mobile:android", "mobile:ios"]);
    expect(rivalsOf([])).toEqual([]);
  });
});
