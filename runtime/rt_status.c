/* rt_status.c: the text of each status. */
#include "rt.h"

const char *rt_status_text(rt_status status)
{
    switch (status) {
    case RT_OK: return "done";
    case RT_BAD_ID: return "an unknown id, slot or character";
    case RT_TOO_LONG: return "outside the sizes that the model was compiled for";
    case RT_ORDER: return "a call out of order, or without ids";
    case RT_BAD_WEIGHTS: return "not the weights that this model was compiled for";
    case RT_NO_ISA: return "this processor lacks an instruction set that the model was compiled for";
    case RT_INTERRUPTED: return "interrupted";
    case RT_BYTE_ORDER:
        return "the weights have the wrong byte order for this machine; f32 weights "
               "with --weights literal fit any machine";
    case RT_NO_ROOM: return "no room: a buffer is too small, or no thread or memory is available";
    case RT_BAD_VALUE: return "a mask with a number other than 0 and 1, or a bias with NaN or +inf";
    case RT_BAD_OPTION: return "an invalid option";
    case RT_NO_TOKEN: return "the settings of generation exclude every token";
    case RT_NOT_FINITE: return "the model's output contains NaN or infinity";
    }
    return "unknown status";
}

const char *rt_text_fault(rt_status status)
{
    if (status == RT_BAD_ID) return "a character that is not in the vocabulary";
    return rt_status_text(status);
}
