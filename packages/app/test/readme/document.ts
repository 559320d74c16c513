import { connect } from '@kith/app'

const app = await connect()
const shared = await app.document({ onState: ({ kind }) => app.setTitle(kind) })
await shared.loaded()
const votes = shared.doc.getMap<string>('votes')
votes.observe(() => document.body.replaceChildren(JSON.stringify(votes.toJSON())))
if (app.opened.access === 'write') votes.set(app.user.idTag, 'yes')
await shared.saved()
