import { connect } from '@kith/app'

const app = await connect()
const file = await app.file()
app.setTitle(`${file.name}, ${file.size} bytes`)
document.body.textContent = await file.text()
