export { type ArchivedFile, readArchive, readText } from './read-archive.ts'
export { openSpools, type Spool, type Spools } from './spool.ts'
export { type ArchiveSink, type ArchiveWriter, createArchive, streamArchive } from './write-archive.ts'
