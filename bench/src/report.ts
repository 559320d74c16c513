import type { Figure } from './measure.ts'

const columns = ['what', 'median', 'min–max', 'p50', 'p99', 'CPU', 'RSS', 'ceiling', 'verdict'] as const

/** The figures as a table for people. */
export function table(figures: readonly Figure[]): string {
  const rows = [columns, ...figures.map(rowOf)]
  const widths = columns.map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)))
  return rows
    .map((row) =>
      row
        .map((cell, at) => cell.padEnd(widths[at] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

function rowOf(figure: Figure): string[] {
  const { name, unit, runs, median, p50Ms, p99Ms, cpuMs, rssMb, ceiling, target } = figure
  return [
    name,
    `${short(median)} ${unit}`,
    `${short(Math.min(...runs))}–${short(Math.max(...runs))}`,
    p50Ms === undefined ? '' : `${p50Ms.toFixed(2)} ms`,
    p99Ms === undefined ? '' : `${p99Ms.toFixed(2)} ms`,
    cpuMs === undefined ? '' : `${cpuMs.toFixed(3)} ms`,
    rssMb === undefined ? '' : `${rssMb.toFixed(0)} MB`,
    ceiling ? `${short(ceiling.value)} (${ceiling.name})` : '',
    target ? `${target.isMet ? 'met' : 'MISSED'}: ${target.text}` : '',
  ]
}

function short(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toFixed(1)
}
