import { connect, followLook } from '@kith/app'

interface Click {
  readonly by: string
}

const app = await connect()
followLook(app)
const database = await app.database()
const clicks = database.collection<Click>('clicks')
clicks.onChange((all) => show('times', `${all.length} clicks`))
show('greeting', `Hello, ${app.user.name}`)
document.getElementById('count')?.addEventListener('click', () => void clicks.add({ by: app.user.idTag }))

function show(id: string, text: string): void {
  const element = document.getElementById(id)
  if (element) element.textContent = text
}
