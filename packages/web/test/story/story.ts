import { arriving } from './arriving.ts'
import { parting } from './parting.ts'
import { sharing } from './sharing.ts'
import type { Step } from './stage.ts'
import { talking } from './talking.ts'

/** Two people on two servers who meet, talk, share, fall out, and lose a server and a device. Each step begins where the one
 * before it ended. */
export const story: readonly Step[] = [...arriving, ...talking, ...sharing, ...parting]
export { ben } from './arriving.ts'
