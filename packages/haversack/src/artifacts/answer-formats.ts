/** The answers that roles are asked for, as examples of the JSON. `review` is what parse-review-answer.ts reads. */
export const ANSWER_FORMATS: Readonly<Record<string, Record<string, unknown>>> = {
  review: {
    approved: "true | false",
    issues: [
      {
        id: "the id of a previous issue, only if this is the same one",
        severity: "blocker | warning | suggestion",
        description: "what is wrong, and why it matters",
        location: "file or heading, with the line",
        suggestion: "what would resolve it",
      },
    ],
    summary: "one or two sentences",
  },
  simplify: {
    approved: "true | false",
    issues: [
      {
        id: "the id of a previous issue, only if this is the same one",
        severity: "blocker | warning | suggestion",
        description: "what is more complex than it has to be",
        location: "file:line",
        suggestion: "the simpler form, with the same behaviour",
      },
    ],
    summary: "one or two sentences",
  },
  tests: {
    tests: [
      {
        name: "what it shows",
        criterion: "the acceptance criterion or goal it comes from",
        scenario: "given …, when …, then …",
        file: "where it is written",
      },
    ],
    issues: [
      {
        severity: "blocker | warning | suggestion",
        description: "where the implementation and the documents differ",
        location: "file:line",
      },
    ],
    summary: "one or two sentences",
  },
  work: {
    status: "done | partial | blocked",
    filesChanged: ["path"],
    testsRun: "the command and its outcome",
    deviations: ["where you left the design or the plan, and why"],
    summary: "one or two sentences",
  },
};

/** The closing words of a prompt. Ids are asked for only where there are earlier issues to name. */
export function formatAnswerRequest(
  answer: string | Record<string, unknown>,
  { hasPrevious = false }: { hasPrevious?: boolean } = {},
): string {
  const example = typeof answer === "string" ? ANSWER_FORMATS[answer] : answer;
  if (example === undefined) return "";
  const isShipped = typeof answer === "string";
  const json = JSON.stringify(
    example,
    (key, value: unknown) => (isShipped && key === "id" && !hasPrevious ? undefined : value),
    2,
  );
  // Not a text: a reviewer that copies the quotes would answer with one.
  return `Return your answer as JSON of this form:\n\`\`\`json\n${json.replaceAll('"true | false"', "true | false")}\n\`\`\``;
}
