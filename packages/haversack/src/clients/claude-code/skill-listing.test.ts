import { describe, expect, it } from "vitest";
import { fitListing, LISTINGS } from "../skill-listings.ts";

const skills = (count: number, lengths: number[]) =>
  Array.from({ length: count }, (_, at) => ({
    name: `zs${String(at).padStart(3, "0")}`,
    description: "x".repeat(lengths[at % lengths.length]!),
  }));
const [small, large] = LISTINGS;

describe("fitListing", () => {
  // Counted in requests of the real client 2.1.325.
  it.each([
    [10, [100], small, 10],
    [30, [100], small, 16],
    [60, [100], small, 14],
    [120, [100], small, 9],
    [276, [100], small, 0],
    [60, [300, 20, 100], small, 13],
    [20, [1000, 20], small, 11],
    [200, [100], large, 200],
    [276, [100], large, 213],
  ])("%i skills with descriptions of %j characters keep as many as the client does", (count, lengths, window, kept) => {
    expect(fitListing(skills(count, lengths), window)).toMatchObject({ total: count, kept });
  });

  it("leaves out the long one and goes on with shorter ones", () => {
    expect(fitListing(skills(20, [1000, 20]), small).dropped).toEqual(
      skills(20, [0]).flatMap(({ name }, at) => (at % 2 === 0 && at > 0 ? [name] : [])),
    );
  });
});
