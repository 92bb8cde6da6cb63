dates_weights.o: dates_weights.c
