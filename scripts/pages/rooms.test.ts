import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { directImports, roomsOf } from './source-rooms.ts'

const tablesPage = readFileSync(resolve(import.meta.dirname, '../../docs/operations/tables.md'), 'utf8')

test('every table is drawn in one room', () => {
  const described = tablesPage
    .split('\n')
    // The rows of what makes them grow.
    .filter((line) => line.startsWith('| `') && line.split('|').length === 6)
    .flatMap((line) => [...(line.split('|')[1] ?? '').matchAll(/`([^`]+)`/g)].map(([, name]) => name))
  const drawn = [...roomsOf('infra'), ...roomsOf('features')].flatMap((room) => room.tables)
  // The migrator makes its own table before it can know any other.
  expect([...drawn, 'kith_migrations'].sort()).toEqual(described.sort())
})

test('an import that another one brings along has no arrow', () => {
  const room = (name: string, ...imports: string[]) => ({ name, imports, infra: [], tables: [] })
  const rooms = [room('a', 'b', 'c', 'd'), room('b', 'c'), room('c'), room('d')]
  expect(directImports(rooms)).toEqual([
    ['a', 'b'],
    ['a', 'd'],
    ['b', 'c'],
  ])
})
