/* text_pieces.h: texts, or pairs of texts, as the ids of a tokenizer's pieces. */
#ifndef TEXT_PIECES_H
#define TEXT_PIECES_H

#include <stdbool.h>

#include "tokenizer.h"

/* Most texts want a small part of the scratch that the longest could need, so it grows; pieces_free gives it back. plain: what the tokenizer's
 * template adds is left out. */
typedef struct Pieces { RtTokenizer *tokenizer; void *scratch; size_t scratch_bytes; unsigned char *types; int types_room; bool plain; } Pieces;

/* ids [room]; n of them are written, of which `first` from the start are of type 0; the whole text has `whole`. */
typedef struct PieceIds { int *ids; int room, n, first, whole; } PieceIds;

/* The ids of text[bytes]. pair: where it has a tab, it is two texts. cut: a text with more than `room` ids is cut to them; else it is
 * RT_TOO_LONG, with their number in n. Other statuses as rt_tokenizer_encode's. */
rt_status pieces_read(Pieces *p, const char *text, size_t bytes, bool pair, bool cut, PieceIds *out);
void pieces_free(Pieces *p);

#endif
