/** Messages, for hook.cjs: loaded when one waits. */
import { deliverMessages } from "../engine/wake/deliver-messages.ts";
import type { WakePlace } from "./hook-place.ts";

/** `used`: what the answer has already. */
export function messagesFor(
  sessionId: string,
  { event, used }: { event: string; used: number },
  { handle, now, client }: WakePlace,
): string {
  const isMentionOnly = event === "Stop";
  const { maxChars, sizeOf } = client();
  return deliverMessages({ sessionId, maxChars: maxChars - used, sizeOf, isMentionOnly, event }, { handle, now });
}
