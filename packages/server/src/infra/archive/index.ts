export { type ArchivedFile, readArchive, readText } from './read-archive.ts'
export { type ArchiveWriter, createArchive, type SizedStream } from './write-archive.ts'
