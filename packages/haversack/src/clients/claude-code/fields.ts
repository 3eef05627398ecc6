/** Fields of a payload, read without trust. Loaded by the hook. */
export type Fields = Record<string, unknown>;

export function text(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

export function object(value: unknown): Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}
