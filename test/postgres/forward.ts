/**
 * `npm run forward [EVENTS] [KILLS]`: events that were written offline arrive once and in order although the forwarder is killed again and
 * again. Default: 10,000 events, 100 kills.
 */
import { forwardRound } from "./forward-round.ts";
import { startServer } from "./server.ts";

const [events = 10_000, kills = 100] = process.argv.slice(2, 4).map(Number);
const server = await startServer({ settings: ["fsync=on", "full_page_writes=on"] });
try {
  const { faults, ms, ...report } = await forwardRound({ url: server.socketUrl, events, kills });
  const counts = `${report.kills} kills of the forwarder (${report.lostAnswers} between the server's commit and the answer)`;
  const outcome = faults.length === 0 ? "each once and in order" : faults.join("; ");
  console.log(`${events} events written offline, ${counts}, ${(ms / 1000).toFixed(1)} s: ${outcome}`);
  process.exitCode = faults.length === 0 && report.kills >= kills ? 0 : 1;
} finally {
  await server.stop();
}
