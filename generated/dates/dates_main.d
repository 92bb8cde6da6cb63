dates_main.o: dates_main.c dates.h runtime/rt.h runtime/activations.def \
 runtime/rt_host.h runtime/rt.h
dates.h:
runtime/rt.h:
runtime/activations.def:
runtime/rt_host.h:
runtime/rt.h:
