/** The answers that roles must give, as JSON examples. parse-review-answer.ts reads `review`. */
export const ANSWER_FORMATS: Readonly<Record<string, Record<string, unknown>>> = {
  review: verdict({
    description: "what is wrong, and why it matters",
    location: "file or heading, with the line",
    suggestion: "what would resolve it",
  }),
  simplify: verdict({
    description: "what is more complex than it has to be",
    location: "file:line",
    suggestion: "the simpler form, with the same behaviour",
  }),
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

function verdict(issue: Record<string, string>): Record<string, unknown> {
  const id = "the id of a previous issue, only if this is the same one";
  const issues = [{ id, severity: "blocker | warning | suggestion", ...issue }];
  return { approved: "true | false", issues, summary: "one or two sentences" };
}

/** The end of a prompt. Requests ids only if there are earlier issues. */
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
  // Without quotes: a reviewer that copies them would answer with a string.
  return `Return your answer as JSON of this form:\n\`\`\`json\n${json.replaceAll('"true | false"', "true | false")}\n\`\`\``;
}
