/** A program that opens everything, waits for something, and ends when it has closed everything. Arguments: the base URL, a token, a
 * database, a document, what it waits for (`answers`, `failures` or nothing), and the timeout of the reads in ms. */
import { connectBus } from '@kith/client/bus'
import { connectDocument } from '@kith/client/crdt'
import { connectDatabase } from '@kith/client/rtdb'

const [, , baseUrl = '', token = '', databaseId = '', documentId = '', awaited, timeout] = process.argv
const timeoutMs = Number(timeout ?? Number.POSITIVE_INFINITY)

/** Resolves when the state of a connection has an error. */
function failure() {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { failed: promise, onState: (state: object) => 'lastError' in state && resolve() }
}

const failures = [failure(), failure(), failure()] as const
const bus = connectBus({ baseUrl, token, onEvent: () => undefined, onState: failures[0].onState })
const database = connectDatabase({
  ...{ baseUrl, token, fileId: databaseId, hasPresence: true, timeoutMs },
  onState: failures[1].onState,
})
const document = connectDocument({
  ...{ baseUrl, token, fileId: documentId, timeoutMs },
  onState: failures[2].onState,
})
const tasks = database.collection('tasks')
tasks.onChange(() => undefined)
database.setPresence({ name: 'Alice' })
const answers = [tasks.get(), database.lock('tasks/x'), document.loaded()].map((answer) =>
  answer.then(
    () => 'done',
    ({ name, code }: { name: string; code: number }) => `${name} ${code}`,
  ),
)
if (awaited === 'answers') process.stdout.write(`${await Promise.all(answers)}\n`)
if (awaited === 'failures') await Promise.all(failures.map(({ failed }) => failed))
bus.close()
database.close()
document.close()
