import { connect } from '@kith/app'

const app = await connect()
const opened = await app.crdt({ onState: ({ kind }) => app.setTitle(kind) })
await opened.loaded()
const votes = opened.doc.getMap<string>('votes')
votes.observe(() => document.body.replaceChildren(JSON.stringify(votes.toJSON())))
if (app.file.access === 'write') votes.set(app.user.idTag, 'yes')
await opened.saved()
