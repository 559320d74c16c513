import { connectDatabase } from '@kith/client/rtdb'
import type { Given } from './given.ts'

export async function example({ baseUrl, fileId, token, show }: Given) {
  interface Task {
    readonly title: string
    readonly done: boolean
    readonly due: number
  }

  const database = connectDatabase({ baseUrl, fileId, token })
  const tasks = database.collection<Task>('tasks')
  const stop = tasks
    .where('done', 'equals', false)
    .orderBy('due')
    .limit(20)
    .onChange((open, changes) => show(open, changes))
  const id = await tasks.add({ title: 'Write', done: false, due: 1 })
  await tasks.doc(id).update({ done: true })
  await database.transaction([
    { type: 'create', path: 'lists', data: { name: 'Home' }, ref: '$list' },
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the server replaces it by the id
    { type: 'create', path: 'lists/${$list}/tasks', data: { title: 'Sweep', done: false, due: 2 } },
  ])
  stop()
  return [database]
}
