/** How a packet says that it is one. `haversack prompt` starts a client with one as its prompt, which is no request to find skills for. */
export const FROM = "From Haversack, ";
export const BY_MESSAGE = "because a message came";

/** The line stands below the packet's title. */
const FIRST_CHARS = 500;

export function isPacketPrompt(prompt: string): boolean {
  return prompt.slice(0, FIRST_CHARS).includes(FROM + BY_MESSAGE);
}
