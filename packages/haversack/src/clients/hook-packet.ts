/** The packet itself, for hook.cjs: loaded when there is something to put into it. */
export { makePacket } from "../engine/wake/make-packet.ts";
