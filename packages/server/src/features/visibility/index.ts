export { type ActionAudience, type BoundedAudience, canRead } from './can-read.ts'
export { findViewer } from './find-viewer.ts'
export { isLive, isReadableBy, type ReadableTables, viewerShape } from './readable-predicate.ts'
export { actsAsTenant, tenantViewer, type Viewer, viewerOf } from './viewer.ts'
