/** Small parts that several views share. */
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { useClock } from "./api.ts";

export function Problem({ text }: { text: string | undefined }) {
  return text === undefined ? null : (
    <p class="problem" role="alert">
      {text}
    </p>
  );
}

export function Empty({ children }: { children: ComponentChildren }) {
  return <p class="empty">{children}</p>;
}

export function Priority({ value }: { value: string }) {
  return <span class={`priority ${value.toLowerCase()}`}>{value}</span>;
}

/** What is left of a lease, or since when it is over. */
export function Lease({ until }: { until: string | Date }) {
  const now = useClock();
  const left = new Date(until).getTime() - now;
  const isOver = left <= 0;
  return (
    <span
      class={isOver ? "lease over" : left < 5 * 60_000 ? "lease short" : "lease"}
      title={`until ${localTime(until)}`}
    >
      {isOver ? `expired ${span(-left)} ago` : span(left)}
    </span>
  );
}

export function span(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} days`;
}

export function ago(at: string | Date, now: number): string {
  return `${span(Math.max(0, now - new Date(at).getTime()))} ago`;
}

export function localTime(at: string | Date): string {
  return new Date(at).toLocaleString();
}

export function short(count: number): string {
  if (count < 10_000) return String(count);
  return count < 1_000_000 ? `${Math.round(count / 1000)}k` : `${(count / 1_000_000).toFixed(1)}M`;
}

export const STATUS_NAMES: Readonly<Record<string, string>> = {
  todo: "To do",
  in_progress: "In progress",
  review: "Review",
  blocked: "Blocked",
  done: "Done",
  archived: "Archived",
};

/** A panel over the page. Escape or the backdrop closes it; the focus returns to where it was. */
export function Panel({ title, onClose, children }: { title: string; onClose(): void; children: ComponentChildren }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const shown = dialog.current;
    const before = document.activeElement;
    const onBackdrop = (event: MouseEvent) => {
      if (event.target === shown) onClose();
    };
    shown?.addEventListener("click", onBackdrop);
    shown?.showModal();
    return () => {
      shown?.close();
      if (before instanceof HTMLElement) before.focus();
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
