/** A program that opens everything, and ends when it has closed everything. Arguments: the base URL, a token, a database, a
 * document; 'reads' when it waits for the answers before. */
import { connectBus } from '@kith/client/bus'
import { connectDocument } from '@kith/client/crdt'
import { connectDatabase } from '@kith/client/rtdb'

const [, , baseUrl = '', token = '', databaseId = '', documentId = '', how] = process.argv
const bus = connectBus({ baseUrl, token, onEvent: () => undefined })
const database = connectDatabase({ baseUrl, token, fileId: databaseId, hasPresence: true, timeoutMs: 500 })
const document = connectDocument({ baseUrl, token, fileId: documentId, timeoutMs: 500 })
const tasks = database.collection('tasks')
tasks.onChange(() => undefined)
database.setPresence({ name: 'Alice' })
const outcome = (promise: Promise<unknown>) =>
  promise.then(
    () => 'done',
    ({ name, code }: { name: string; code: number }) => `${name} ${code}`,
  )
const answers = [tasks.get(), database.lock('tasks/x'), document.loaded()].map(outcome)
if (how === 'reads') process.stdout.write(`${await Promise.all(answers)}\n`)
bus.close()
database.close()
document.close()
