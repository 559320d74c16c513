import { styleText } from 'node:util'
import { printable } from '#lib/printable.ts'

type Style = Parameters<typeof styleText>[0]

const styles: Readonly<Record<string, Style>> = {
  trace: 'gray',
  debug: 'gray',
  info: 'green',
  warn: 'yellow',
  error: 'red',
  fatal: ['bold', 'red'],
}

/** One line of the JSON log for a person: time, level, message, details, and stacks below. */
export function prettyLine(line: string, hasColour: boolean): string {
  const { time, level, msg, ...details }: Record<string, unknown> = JSON.parse(line)
  const paint = (style: Style, text: string) =>
    hasColour ? styleText(style, text, { validateStream: false }) : text
  const clock = paint('gray', printable(String(time).slice(11, 23)))
  const word = paint(styles[String(level)] ?? 'white', printable(String(level).toUpperCase()).padEnd(5))
  const stacks = Object.values(details).flatMap(stackOf)
  const rest = Object.entries(details).map(([name, value]) =>
    paint('gray', `${printable(name)}=${short(value)}`),
  )
  const head = [clock, word, printable(String(msg ?? '')), ...rest].join(' ')
  return `${[head, ...stacks].join('\n')}\n`
}

/** The stacks of a logged error and of its causes, indented. */
function stackOf(value: unknown): string[] {
  if (typeof value !== 'object' || value === null || !('stack' in value)) return []
  if (typeof value.stack !== 'string') return []
  const lines = value.stack.split('\n').map((text) => `    ${printable(text)}`)
  return [...lines, ...('cause' in value ? stackOf(value.cause) : [])]
}

function short(value: unknown): string {
  if (typeof value === 'object' && value !== null && 'stack' in value) {
    const { name, message } = value as { name?: unknown; message?: unknown }
    return printable(`${name}: ${message}`)
  }
  return typeof value === 'string' && /^[^\s"]+$/.test(value)
    ? printable(value)
    : printable(JSON.stringify(value))
}
