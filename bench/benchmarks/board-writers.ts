/** A thread that updates one task through many connections, at a steady rate. Reports the time of each update. */
import { setTimeout as sleep } from "node:timers/promises";
import { parentPort, workerData } from "node:worker_threads";
import { openDatabase } from "../../packages/haversack/src/store/sqlite/open.ts";
import { SqliteWorkStore } from "../../packages/haversack/src/store/sqlite/work/sqlite-work-store.ts";

export interface Writers {
  file: string;
  taskId: string;
  writers: number;
  perSecond: number;
  updates: number;
}

const { file, taskId, writers, perSecond, updates } = workerData as Writers;
const handles = Array.from({ length: writers }, () => openDatabase(file, { durability: "full" }));
const start = Date.now();
for (let number = 0; number < updates; number++) {
  const due = start + (number * 1000) / perSecond;
  if (due > Date.now()) await sleep(due - Date.now());
  const store = new SqliteWorkStore(handles[number % writers]!);
  const by = { name: `writer-${number % writers}`, at: new Date() };
  await store.updateTask(taskId, { title: `number ${number}` }, by);
  parentPort?.postMessage(Date.now());
}
for (const { db } of handles) db.close();
