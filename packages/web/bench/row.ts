import { median } from '../../../bench/src/measure.ts'

/** One figure beside what is asked of it. */
export interface Row {
  readonly what: string
  readonly unit: string
  readonly runs: readonly number[]
  readonly median: number
  readonly bar: Bar
  /** The same of a bare page in the same run, and how many times as much this may be, or must be. */
  readonly baseline?: { readonly of: string; readonly value: number; readonly share: Bar } | undefined
  readonly note?: string | undefined
}

export interface Bar {
  readonly is: 'at most' | 'at least'
  readonly value: number
}

interface RowParts {
  readonly what: string
  readonly unit: string
  readonly runs: readonly number[]
  readonly bar: Bar
  readonly baseline?:
    | { readonly of: string; readonly runs: readonly number[]; readonly share: Bar }
    | undefined
  readonly note?: string | undefined
}

export const atMost = (value: number): Bar => ({ is: 'at most', value })
export const atLeast = (value: number): Bar => ({ is: 'at least', value })

export function rowOf({ runs, baseline, ...rest }: RowParts): Row {
  const kept = baseline && { of: baseline.of, value: median(baseline.runs), share: baseline.share }
  return { ...rest, runs, median: median(runs), baseline: kept }
}

type Verdict = 'met' | 'met by its ratio' | 'MISSED'

/** The bars hold on two idle processors; where others use them as well, the ratio to the bare page counts. */
export function verdictOf({ median: value, bar, baseline }: Row): Verdict {
  if (holds(value, bar)) return 'met'
  return baseline && holds(value / baseline.value, baseline.share) ? 'met by its ratio' : 'MISSED'
}

function holds(value: number, bar: Bar): boolean {
  return bar.is === 'at most' ? value <= bar.value : value >= bar.value
}

const columns = ['what', 'median', 'min–max', 'bar', 'baseline', 'ratio', 'verdict', 'note'] as const

/** The rows as a table for people. */
export function table(rows: readonly Row[]): string {
  const lines = [columns, ...rows.map(cellsOf)]
  const widths = columns.map((_, at) => Math.max(...lines.map((line) => line[at]?.length ?? 0)))
  return lines
    .map((line) => line.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join('  '))
    .map((line) => line.trimEnd())
    .join('\n')
}

function cellsOf(row: Row): readonly string[] {
  const { what, unit, runs, median: value, bar, baseline, note = '' } = row
  return [
    what,
    `${short(value)} ${unit}`,
    runs.length > 1 ? `${short(Math.min(...runs))}–${short(Math.max(...runs))}` : '',
    signed(bar),
    baseline ? `${short(baseline.value)} (${baseline.of})` : '',
    baseline ? `${(value / baseline.value).toFixed(2)}, ${signed(baseline.share)}` : '',
    verdictOf(row),
    note,
  ]
}

function signed({ is, value }: Bar): string {
  return `${is === 'at most' ? '≤' : '≥'} ${value}`
}

function short(value: number): string {
  if (value !== 0 && value < 1) return value.toFixed(3)
  return value >= 100 ? value.toFixed(0) : value.toFixed(1)
}
