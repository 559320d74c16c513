import { type Inspection, inspectFile } from './inspect-file.ts'

process.once('message', (inspection: Inspection) => {
  process.send?.(inspectFile(inspection), () => process.disconnect?.())
})
