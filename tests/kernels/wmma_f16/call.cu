wmma_linear<48, 64, 256><<<dim3(4, 3), 32>>>(a, b, out);
