import type { Page } from './page.ts'
import { directImports, type Room, roomsOf } from './source-rooms.ts'

const introduction = `# Rooms and tables

Drawn from the imports and the table definitions in \`packages/server/src\` by \`npm run docs\`. What a room is for and why is in
[ARCHITECTURE.md](../ARCHITECTURE.md); what each table grows with is in [tables](operations/tables.md).

An arrow points from a room to one that it imports. Where A imports B and C, and B imports C, the arrow from A to C is left out
of the drawings; the tables below have every import. \`app\` imports them all and wires them.
`

/** The drawing of rooms, of who imports whom, and of the tables of each. */
export const roomsPage: Page = {
  path: 'docs/rooms.md',
  render() {
    const features = roomsOf('features')
    const infra = roomsOf('infra')
    return [
      introduction,
      '## Features\n',
      drawing(features),
      ['| Room | Imports | of `infra` | Tables |', '|---|---|---|---|', ...features.map(featureRow), ''].join(
        '\n',
      ),
      '## Infrastructure\n',
      drawing(infra),
      [
        '| Room | Imports | Used by | Tables |',
        '|---|---|---|---|',
        ...infra.map(infraRow(features)),
        '',
      ].join('\n'),
    ].join('\n')
  },
}

function drawing(rooms: readonly Room[]): string {
  const arrows = directImports(rooms)
  const drawn = rooms.filter(
    ({ name, tables }) => tables.length > 0 || arrows.some((arrow) => arrow.includes(name)),
  )
  const alone = rooms.filter((room) => !drawn.includes(room)).map((room) => code(room.name))
  const lines = [
    '```mermaid',
    'flowchart LR',
    ...drawn.map(({ name, tables }) => `  ${name}["${[`<b>${name}</b>`, ...tables].join('<br/>')}"]`),
    ...arrows.map(([from, to]) => `  ${from} --> ${to}`),
    '```',
    '',
  ]
  if (alone.length > 0) lines.push(`Without arrows and tables: ${alone.join(', ')}.`, '')
  return lines.join('\n')
}

function featureRow({ name, imports, infra, tables }: Room): string {
  return `| ${code(name)} | ${imports.join(', ')} | ${infra.join(', ')} | ${tables.map(code).join(', ')} |`
}

const infraRow =
  (features: readonly Room[]) =>
  ({ name, imports, tables }: Room): string => {
    const users = features.filter((feature) => feature.infra.includes(name)).map((feature) => feature.name)
    const usedBy = users.length === features.length ? 'every feature' : users.join(', ')
    return `| ${code(name)} | ${imports.join(', ')} | ${usedBy} | ${tables.map(code).join(', ')} |`
  }

const code = (name: string) => `\`${name}\``
