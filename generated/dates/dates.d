dates.o: dates.c runtime/rt.h runtime/activations.def dates_kernels.h \
 dates.h
runtime/rt.h:
runtime/activations.def:
dates_kernels.h:
dates.h:
