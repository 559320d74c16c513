import { connect, followLook } from '@kith/app'

interface Note {
  readonly text: string
}

const app = await connect()
followLook(app)
const database = await app.database()
const notes = database.collection<Note>('notes')
notes.onChange((all) => document.body.replaceChildren(...all.map(({ text }) => `${text} `)))
await notes.add({ text: `Hello from ${app.user.name}!` })
