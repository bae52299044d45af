/** Moves a tile to another place. The tiles between the two places move by one. */
export function moveTile<Tile>(tiles: readonly Tile[], from: number, to: number): readonly Tile[] {
  const moved = tiles[from];
  return moved === undefined ? tiles : tiles.toSpliced(from, 1).toSpliced(to, 0, moved);
}
