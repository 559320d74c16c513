import { type Command, shownOption, usageOf } from './command.ts'

const jsonOption = ['json', 'Print one JSON document instead of text.'] as const

/** All commands with a line each. */
export function overview(commands: readonly Command[]): string[] {
  const rows = commands.map(({ name, summary }) => [`kith ${name}`, summary] as const)
  return [
    'Usage: kith COMMAND [--json]',
    '',
    ...columns(rows),
    '',
    'kith help COMMAND tells more of one of them.',
  ]
}

/** One command with everything there is to say. */
export function helpOf(command: Command): string[] {
  const { summary, description, options } = command
  const rows = [
    ...Object.entries(options).map((option) => [shownOption(option), option[1].meaning] as const),
    [`--${jsonOption[0]}`, jsonOption[1]] as const,
  ]
  return [
    `Usage: ${usageOf(command)} [--json]`,
    '',
    summary,
    ...(description === undefined ? [] : ['', ...description.split('\n')]),
    '',
    ...columns(rows),
  ]
}

/** Rows with their first cells padded to the same width. */
export function columns(rows: readonly (readonly string[])[]): string[] {
  const widths = rows.reduce<number[]>(
    (widest, row) => row.map((cell, at) => Math.max(cell.length, widest[at] ?? 0)),
    [],
  )
  return rows.map((row) => `  ${row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join('  ')}`.trimEnd())
}

/** A number of things: `1 tenant`, `2 tenants`. */
export function counted(count: number, thing: string): string {
  return `${count} ${thing}${count === 1 ? '' : 's'}`
}
