import { expect, it } from "vitest";
import { MANY_QUESTIONS, PackedMap, PackedSet } from "./packed-words.ts";

const QUESTIONS = ["can", "can't", "cannot", "an", "not", "c", "", "canned", "nnot"];

it("finds whole words only, and the same ones before and after it has built its set", () => {
  const set = new PackedSet(" can can't cannot ");
  const ask = () => QUESTIONS.filter((word) => set.has(word));
  expect(ask()).toEqual(["can", "can't", "cannot"]);
  for (let time = 0; time < MANY_QUESTIONS; time++) set.has("x");
  expect(ask()).toEqual(["can", "can't", "cannot"]);
});

it("finds values by whole words, empty ones too, before and after it has built its map", () => {
  const map = new PackedMap(" a:can can:b cannot: not:can ");
  const ask = () => QUESTIONS.map((word) => map.get(word));
  const expected = ["b", undefined, "", undefined, "can", undefined, undefined, undefined, undefined];
  expect(ask()).toEqual(expected);
  for (let time = 0; time < MANY_QUESTIONS; time++) map.get("x");
  expect(ask()).toEqual(expected);
});
