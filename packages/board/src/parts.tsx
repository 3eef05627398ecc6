/** Small parts that several views share. */
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { useClock } from "./api.ts";

export function Problem({ text }: { text: string | undefined }) {
  return text === undefined ? null : (
    <p class="problem" role="alert">
      {text}
    </p>
  );
}

/** One view other than the board: a title, what went wrong, and the rest once there is something. */
export function Page({
  title,
  error,
  children,
}: {
  title: string;
  error: string | undefined;
  children?: ComponentChildren;
}) {
  return (
    <section class="page" aria-label={title}>
      <h1>{title}</h1>
      <Problem text={error} />
      {children ?? (error === undefined && <p class="quiet">Loading…</p>)}
    </section>
  );
}

/** A text with `code` in it. */
export function Coded({ text }: { text: string }) {
  return <>{text.split("`").map((part, at) => (at % 2 === 1 ? <code key={at}>{part}</code> : part))}</>;
}

/** A value from 0 to 1 as a bar. `isCost`: a high value is bad. */
export function Meter({ value, label, isCost = false }: { value: number; label: string; isCost?: boolean }) {
  const percent = Math.round(100 * Math.max(0, Math.min(1, value)));
  const state = isCost && value >= 0.8 ? "bad" : isCost && value >= 0.6 ? "warn" : "good";
  return (
    <>
      {/* The drawn one looks the same in every browser; this one is read out. */}
      <meter class="hidden" aria-label={label} min={0} max={100} value={percent}>
        {percent}%
      </meter>
      <span class="meter" aria-hidden="true">
        <span class={`meter-fill ${state}`} style={{ width: `${percent}%` }} />
      </span>
    </>
  );
}

export function Empty({ children }: { children: ComponentChildren }) {
  return <p class="empty">{children}</p>;
}

export function Priority({ value }: { value: string }) {
  return <span class={`priority ${value.toLowerCase()}`}>{value}</span>;
}

/** The time that is left of a lease, or since it has ended. */
export function Lease({ until }: { until: string | Date }) {
  const now = useClock();
  const left = new Date(until).getTime() - now;
  const isOver = left <= 0;
  return (
    <span
      class={isOver ? "lease over" : left < 5 * 60_000 ? "lease short" : "lease"}
      title={`until ${localTime(until)}`}
    >
      {isOver ? `expired ${span(-left)} ago` : `${span(left)} left`}
    </span>
  );
}

export function span(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours >= 48) return `${Math.floor(hours / 24)} days`;
  return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`;
}

export function ago(at: string | Date, now: number): string {
  return `${span(Math.max(0, now - new Date(at).getTime()))} ago`;
}

export function localTime(at: string | Date): string {
  return new Date(at).toLocaleString();
}

/** 2026-11-18, in this browser's time zone. */
export function localDay(at: string): string {
  const time = new Date(at);
  const two = (value: number) => String(value).padStart(2, "0");
  return `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
}

/** 12,345. */
export function whole(count: number): string {
  return count.toLocaleString("en");
}

export function short(count: number): string {
  if (count < 1_000) return String(count);
  if (count < 1_000_000) return `${(count / 1000).toFixed(count < 10_000 ? 1 : 0)}k`;
  return `${(count / 1_000_000).toFixed(1)}M`;
}

export const STATUS_NAMES: Readonly<Record<string, string>> = {
  todo: "To do",
  in_progress: "In progress",
  review: "Review",
  blocked: "Blocked",
  done: "Done",
  archived: "Archived",
};

export function focusTask(id: string): void {
  document.querySelector<HTMLElement>(`[data-task="${CSS.escape(id)}"]`)?.focus();
}

/** A panel over the page. Escape or the backdrop closes it; the focus returns to where it was. */
export function Panel({ title, onClose, children }: { title: string; onClose(): void; children: ComponentChildren }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const shown = dialog.current;
    const before = document.activeElement;
    const onBackdrop = (event: MouseEvent) => {
      if (event.target === shown) onClose();
    };
    shown?.addEventListener("click", onBackdrop);
    shown?.showModal();
    return () => {
      shown?.close();
      // If the focus has moved since then, the user may be typing elsewhere.
      const now = document.activeElement;
      // If the element that had the focus before is gone, the focus is still inside the closed dialog.
      if (!(before instanceof HTMLElement) || (now !== document.body && !shown?.contains(now))) return;
      // A card that was moved meanwhile has another element.
      if (before.isConnected) before.focus();
      else if (before.dataset["task"] !== undefined) focusTask(before.dataset["task"]);
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      class="panel"
      aria-label={title}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      <div class="panel-body">
        <button type="button" class="close" aria-label="Close" onClick={onClose}>
          ×
        </button>
        {children}
      </div>
    </dialog>
  );
}

/** A form in front of the page. Its first field has the focus; after it, the focus returns to where it was. */
export function Ask({
  title,
  submit,
  onSubmit,
  onCancel,
  children,
}: {
  title: string;
  /** The words on its button. */
  submit: string;
  onSubmit(fields: Record<string, string>): void;
  onCancel(): void;
  children: ComponentChildren;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const shown = dialog.current;
    shown?.showModal();
    // A dialog gives the focus to its first field by itself, but not in time for the first key.
    shown?.querySelector<HTMLElement>("input, select, textarea")?.focus();
    return () => shown?.close();
  }, []);
  return (
    <dialog
      ref={dialog}
      class="ask"
      aria-label={title}
      onCancel={(event) => {
        event.preventDefault();
        onCancel();
      }}
    >
      <form
        class="form"
        aria-label={title}
        onSubmit={(event) => {
          event.preventDefault();
          onSubmit(fieldsOf(event.currentTarget));
        }}
      >
        <h2 class="wide">{title}</h2>
        {children}
        <div class="row">
          <button type="submit" class="main">
            {submit}
          </button>
          <button type="button" onClick={onCancel}>
            Cancel
          </button>
        </div>
      </form>
    </dialog>
  );
}

/** What a form holds. It has no files. */
export function fieldsOf(form: HTMLFormElement): Record<string, string> {
  return Object.fromEntries(new FormData(form)) as Record<string, string>;
}

/** Asks why a task is blocked. Undefined: no reason was given, and the task stays as it is. */
export function AskReason({ id, onDone }: { id: string; onDone(reason: string | undefined): void }) {
  const title = `What blocks ${id}?`;
  const onSubmit = ({ reason = "" }: Record<string, string>) => {
    if (reason.trim() !== "") onDone(reason.trim());
  };
  return (
    <Ask {...{ title, onSubmit }} submit="Block" onCancel={() => onDone(undefined)}>
      <input class="wide" name="reason" aria-label={title} required maxLength={500} autocomplete="off" />
    </Ask>
  );
}
