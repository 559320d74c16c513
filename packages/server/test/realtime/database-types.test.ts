import { connectDatabase } from '@kith/client/rtdb'
import { expect, test } from 'vitest'
import { closedPort } from '#harness/addresses.ts'

interface Task {
  readonly title: string
  readonly done: boolean
  readonly due?: number
  readonly tags?: readonly string[]
  readonly place?: { readonly city: string }
}

const database = connectDatabase({
  ...{ baseUrl: `http://127.0.0.1:${closedPort}`, fileId: 'r1~x' },
  onRetry: () => undefined,
})
database.close()
const tasks = database.collection<Task>('tasks')
const task = tasks.doc('one')
const whole = { title: 'x', done: false }

test('mistakes in queries do not compile', () => {
  const mistakes = [
    // @ts-expect-error: no operator
    () => tasks.where('done', '=', true),
    // @ts-expect-error: no field
    () => tasks.where('dnoe', '==', true),
    // @ts-expect-error: another type
    () => tasks.where('done', '==', 'yes'),
    // @ts-expect-error: no array
    () => tasks.where('done', 'in', true),
    // @ts-expect-error: of another element
    () => tasks.where('tags', 'array-contains', 5),
    // @ts-expect-error: no field
    () => tasks.orderBy('deu'),
  ]
  expect(mistakes).toHaveLength(6)
})

test('mistakes in what is written do not compile', () => {
  const mistakes = [
    // @ts-expect-error: no field
    () => task.update({ dnoe: true }),
    // @ts-expect-error: another type
    () => task.update({ done: 'yes' }),
    // @ts-expect-error: a field that is always there is not removed
    () => task.update({ done: null }),
    // @ts-expect-error: inside of no field
    () => task.update({ 'plaec.city': 'Pécs' }),
    // @ts-expect-error: a field is missing
    () => tasks.add({ title: 'x' }),
    // @ts-expect-error: no field
    () => tasks.add({ ...whole, deu: 1 }),
    // @ts-expect-error: another type
    () => task.set({ ...whole, due: 'today' }),
    // @ts-expect-error: no operation
    () => task.update({ due: { $op: 'increase' } }),
  ]
  expect(mistakes).toHaveLength(8)
})

test('what is computed, removed or inside of a field compiles, and so do documents without a type', async () => {
  const calls = [
    () => task.update({ done: true }),
    () => task.update({ due: null, 'place.city': 'Pécs' }),
    () => task.update({ due: { $op: 'increment' }, tags: { $op: 'append', value: 'x' } }),
    () => tasks.add({ ...whole, due: { $fn: 'now' }, place: { city: { $fn: 'trim', args: [' Pécs '] } } }),
    () => task.set({ ...whole, due: { $query: 'count', path: 'tasks' } }),
    () => database.collection('any').add({ anything: 1 }),
    () =>
      database
        .collection('any')
        .doc('x')
        .update({ anything: [1], 'else.where': null }),
    () => database.collection('any').where('anything', '==', 1).orderBy('else').get(),
  ]
  // Closed: they are only to be called.
  for (const call of calls) await expect(call()).rejects.toMatchObject({ name: 'ConnectionLost', code: 1000 })
})
